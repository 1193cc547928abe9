"""Many targets, in several arms: planned, measured in processes, kept in a store, compared."""
