"""What code means to Dynamo: names, kinds of values, compiled regions, and the events in them."""
