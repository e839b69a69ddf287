"""Where work comes from: a reader makes an `EpicPlan` of what people wrote, or says all that is wrong with it."""
