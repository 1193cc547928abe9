"""x"""
from benchmarks.attack.kind import Kind
KIND = Kind("garbage", 1, 1, lambda part: iter(()))
