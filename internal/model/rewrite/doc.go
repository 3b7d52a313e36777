// Package rewrite asks a chat model to rephrase a query, so that it also finds texts that use other words.
//
// Open finds a provider by its spec:
//
//	openai:MODEL   POST /v1/chat/completions of any OpenAI-compatible endpoint
//	ollama:MODEL   POST /api/chat of an Ollama server
//
// Multi asks for other wordings of the query, one a line. Hyde asks for a short answer as it might be written down
// somewhere, right or wrong, since the stored answer often resembles another answer more than the question. Cues asks
// for phrases that might be used to search for a stored text. The output is treated as typed text: instructions in it
// are not followed. Reasoning between <think> and </think>, list marks and quotes around a line are removed, as are
// blank lines, repetitions and the query itself.
//
// A model may give other texts later, so callers that need to repeat an answer must keep them. Requests are retried as
// in package embed, and fail with a *model.Error.
package rewrite
