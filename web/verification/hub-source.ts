import type { JsonValue } from '../../provenance/index.ts'
import { hub } from '../api/api-client.ts'
import { HubProblem } from '../api/problem.ts'
import type { Source } from './verify-record.ts'

/** Reads the inputs of verifications from the Hub. Throws HubProblem and HubUnreachable, as every call does. */
export const hubSource: Source = {
  async keyDocument() {
    const { data } = await hub.GET('/.well-known/provenance-keys.json')
    return data as unknown as JsonValue
  },
  async logName() {
    const { data } = await hub.GET('/api/v1/hub/log/checkpoint')
    return data!.log_name
  },
  async checkpoint() {
    const { data } = await hub.GET('/api/v1/hub/log/checkpoint')
    return data!.checkpoint
  },
  async consistency(from, to) {
    try {
      const { data } = await hub.GET('/api/v1/hub/log/consistency', { params: { query: { from, to } } })
      return data!.path
    } catch (error) {
      if (error instanceof HubProblem && error.status === 400) return undefined
      throw error
    }
  },
  async proof(recordId) {
    try {
      const path = { record_id: recordId }
      const { data } = await hub.GET('/api/v1/hub/records/{record_id}/proof', { params: { path } })
      return { proof: data! }
    } catch (error) {
      if (error instanceof HubProblem && error.status === 404) return { missing: 'no-entry', because: error.message }
      return { missing: 'no-answer', because: error instanceof Error ? error.message : 'no answer came.' }
    }
  },
}
