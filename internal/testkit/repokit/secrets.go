package repokit

// Credentials are put together here, so that the source has none.
var (
	AwsKey  = "AKIA" + "Q4WK2ZBR7DNX5TFM"
	Doubted = "api_key = k3J8s9Dk" + "2Lq0Zx7Vb5Nm1Qw4" // reported, not refused
)
