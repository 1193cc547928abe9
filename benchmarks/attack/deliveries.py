"""x"""
from benchmarks.attack.kind import Kind
KIND = Kind("deliveries", 1, 1, lambda part: iter(()))
