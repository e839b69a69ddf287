"""Settings: TOML documents whose values know where they were written, and the configuration that is made of them."""
