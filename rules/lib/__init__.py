"""What several rules use: facts about code, judgements on them, and the rewritings they allow."""
