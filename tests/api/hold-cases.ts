import { expect } from 'vitest'
import type { Answer, TestHub, TestTenant } from '../support/hub.ts'

export const holdsPath = '/api/v1/hub/legal-holds'
export const retentionPath = '/api/v1/hub/retention-rules'

/** Places a hold and answers it. */
export async function placeHold(hub: TestHub, tenant: TestTenant, body: object) {
  const answer = await hub.call(tenant, 'POST', holdsPath, { body: { name: 'Case 17', reason: 'Litigation', ...body } })
  expect(answer.status, answer.text).toBe(201)
  return answer.body
}

export function releaseHold(hub: TestHub, tenant: TestTenant, holdId: string, reason = 'Settled'): Promise<Answer> {
  return hub.call(tenant, 'POST', `${holdsPath}/${holdId}:release`, { body: { reason } })
}

export function purge(hub: TestHub, tenant: TestTenant, recordId: string): Promise<Answer> {
  return hub.call(tenant, 'DELETE', `/api/v1/hub/records/${recordId}?reason=done`)
}
