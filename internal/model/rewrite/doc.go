// Package rewrite asks a chat model to put a query into other words, so that it finds what was
// written in words that the query does not have.
//
// Open finds a provider by its spec:
//
//	openai:MODEL   POST /v1/chat/completions of any OpenAI-compatible endpoint
//	ollama:MODEL   POST /api/chat of an Ollama server
//
// Multi asks for other ways to ask the same, one a line; Hyde asks for a short answer as it might
// be written down somewhere, right or wrong, since what answers a question is often nearer to
// another answer than to the question. Cues asks for phrases under which somebody may look for a text that is
// kept. What comes back is text like any other that somebody typed:
// nothing in it is followed. What a model thinks aloud between <think> and </think>, marks of lists
// and quotes around a line are cut off, and so is what is blank, there before, or the query itself.
//
// A model gives other texts tomorrow, so whoever wants an answer again keeps them. Requests are
// tried again as package embed does it, and fail with a *model.Error.
package rewrite
