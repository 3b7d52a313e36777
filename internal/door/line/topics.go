package line

// Variable is an environment variable that commands read.
type Variable struct{ Name, Means string }
