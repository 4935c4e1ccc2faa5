"""Learning: objectives and the optimisers that minimise them."""
