"""The wire formats of model services, one module each. They translate and decide nothing."""
