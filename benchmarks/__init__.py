"""What speed costs and gains, measured side by side with the same tools called by hand. Run it: `make bench`."""
