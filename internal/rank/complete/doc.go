// Package complete is what is done to requests before they are answered, and to answers of several repositories: lines of
// JSON are read, models complete what they can, a session excludes what it has shown.
package complete
