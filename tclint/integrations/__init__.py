"""Callbacks for training frameworks: ``tclint.integrations.lightning`` and ``.transformers``.

Each module needs its framework, and nothing else imports it.
"""
