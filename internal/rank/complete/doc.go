// Package complete prepares requests before they are answered, and merges answers of several repositories: it reads
// lines of JSON, has models complete requests, and excludes the nodes that a session has shown.
package complete
