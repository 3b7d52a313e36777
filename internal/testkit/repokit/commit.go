package repokit

// TwoPeople are change lines of a person and a service, with an edge between them.
const TwoPeople = `{"node":{"key":"alice","type":"Person","summary":"Alice leads infra","props":{"team":"infra"}}}
{"node":{"key":"svc/billing","type":"Service","summary":"Charges customers"}}
{"edge":{"type":"owns","src":"alice","dst":"svc/billing","weight":0.5,"props":{"since":2024}}}
`
