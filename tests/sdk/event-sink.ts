import type { ServerResponse } from 'node:http'
import { answerJson, type StubRequest, stubHub } from './stub-hub.ts'

/**
 * Takes batches as the Hub does: stores the `session_id` of each event once for each idempotency key. `refuse` answers a
 * request instead, if it returns true.
 */
export async function eventSink(refuse: (response: ServerResponse, request: StubRequest) => boolean = () => false) {
  const stored: string[] = []
  const keys = new Set<string>()
  const { baseUrl, requests } = await stubHub((response, request) => {
    if (refuse(response, request)) return
    const { events } = JSON.parse(request.body) as { events: { session_id: string }[] }
    const key = String(request.headers['idempotency-key'])
    if (!keys.has(key)) stored.push(...events.map(({ session_id }) => session_id))
    keys.add(key)
    answerJson(201, { accepted: events.length, failed: 0, records: [], errors: [] })(response)
  })
  return { baseUrl, requests, stored }
}
