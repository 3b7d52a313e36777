package retrieve

// Format is the form in which items are printed.
type Format string

// The forms.
const (
	FormatYAML  Format = "yaml"  // a line for each field, with full ids: clause 12.1
	FormatBrief Format = "brief" // a head and indented lines, for readers that pay for each token: 12.4
)

// Formats returns all forms.
func Formats() []Format { return []Format{FormatYAML, FormatBrief} }
