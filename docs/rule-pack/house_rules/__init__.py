"""The rules of our house."""

from house_rules.slow_call import SlowCall

RULES = (SlowCall,)
