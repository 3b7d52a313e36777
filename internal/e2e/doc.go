// Package e2e tries mnem from outside, with real processes: many writers through MCP, HTTP and the
// command line at once, owners that are killed, thousands of connections. The script run next to it
// does the same with clients that others wrote.
package e2e
