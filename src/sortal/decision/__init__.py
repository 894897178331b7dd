"""From scores to posterior probabilities to labels: priors, class weights, costs."""
