"""The bot: takes webhooks, reviews what they are about."""
