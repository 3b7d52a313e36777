package cli

// typeWidth and nameWidth are how many characters of a type and of a key a list shows.
const ()
