// Package serving is the commands that keep running: the HTTP server, the MCP server, and the pages of a browser.
package serving
