"""Shared proofs: when may a rewriting be offered, and as what?"""
