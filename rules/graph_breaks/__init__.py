"""Code that ends a graph: host reads, asserts, branches, output."""
