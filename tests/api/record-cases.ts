import { expect } from 'vitest'
import type { ProblemSlug } from '../../contract/problems.ts'
import { problems } from '../../contract/problems.ts'
import type { Scope } from '../../contract/scopes.ts'
import type { Answer, CallOptions, TestHub, TestTenant } from '../support/hub.ts'

export const recordsPath = '/api/v1/hub/records'
export const pathOf = (id: string, rest = '') => `${recordsPath}/${id}${rest}`
export const unknownId = '019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a'

export const decision = {
  record_type: 'decision',
  decision_id: 'DEC-1',
  decision_subject: 'Renewal',
  decision_outcome: 'approved',
  decision_rationale: 'Usage grew.',
  decision_actor_role: 'lead',
}
export const governanceEvent = { record_type: 'governance_event', event_kind: 'custom.reviewed', subject: 'policy:1' }
export const skillDefinition = (skill_id: string, skill_version = '1.0.0') => ({
  record_type: 'skill_definition',
  skill_id,
  skill_version,
  name: `Skill ${skill_id}`,
})

export function expectProblem(answer: Answer, slug: ProblemSlug, ...pointers: string[]): void {
  expect(answer.body, answer.text).toMatchObject({ status: problems[slug].status, title: problems[slug].title })
  expect(answer.body.type).toMatch(new RegExp(`/errors/${slug}$`))
  expect(answer.status).toBe(problems[slug].status)
  expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/)
  if (pointers.length > 0) {
    expect(answer.body.errors.map((error: { pointer: string }) => error.pointer).sort()).toEqual(pointers.sort())
    for (const error of answer.body.errors) expect(error.detail).not.toBe('')
  }
}

/** Writes a record and answers its id. */
export async function write(hub: TestHub, tenant: TestTenant, body: object): Promise<string> {
  const answer = await hub.call(tenant, 'POST', recordsPath, { body })
  expect(answer.status, answer.text).toBe(201)
  return answer.body.record_id
}

export async function read(hub: TestHub, tenant: TestTenant, id: string) {
  const answer = await hub.call(tenant, 'GET', pathOf(id))
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

/** All records that a query finds, by its parameters. */
export async function query(hub: TestHub, tenant: TestTenant, parameters = '', options: CallOptions = {}) {
  const answer = await hub.call(tenant, 'GET', `${recordsPath}${parameters}`, options)
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

/** What every operation that takes a token refuses in the same way. */
export async function expectGuarded(
  hub: TestHub,
  method: string,
  path: string,
  options: { body?: unknown; lacking: readonly Scope[] },
): Promise<void> {
  const { lacking, ...request } = options
  expectProblem(await hub.call('acme', method, path, { ...request, token: null }), 'authentication-failed')
  expectProblem(await hub.call('acme', method, path, { ...request, token: 'nonsense' }), 'authentication-failed')
  const withoutTenant = { ...request, headers: { 'x-service-tenant': undefined } }
  expectProblem(await hub.call('acme', method, path, withoutTenant), 'validation-failed', '/headers/x-service-tenant')
  const foreign = { ...request, token: await hub.token('globex') }
  expectProblem(await hub.call('acme', method, path, foreign), 'invalid-tenant')
  expectProblem(await hub.call('acme', method, path, { ...request, scopes: lacking }), 'insufficient-scope')
}
