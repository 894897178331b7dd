"""What `compare` is made of: models in workers, folds, budget, judgment."""
