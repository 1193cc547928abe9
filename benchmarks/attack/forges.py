"""x"""
from benchmarks.attack.kind import Kind
KIND = Kind("forges", 1, 1, lambda part: iter(()))
