"""Which graphs there are for certain: what none has reached, what one is sure to, and who may still ask for it."""
