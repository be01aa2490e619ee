import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../contract/operations.ts'
import { type FuzzFixtures, prepareFixtures } from '../support/fuzz/fuzz-fixtures.ts'
import { type GeneratedRequest, generate } from '../support/fuzz/generate.ts'
import { checkResponse } from '../support/fuzz/response-oracle.ts'
import { fuzz } from '../support/fuzz/run.ts'
import { createSender, type WireResponse } from '../support/fuzz/send.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
let world: FuzzFixtures
beforeAll(async () => {
  hub = await startHub()
  world = await prepareFixtures(hub)
})
afterAll(() => hub.stop())

test('500 malformed requests get well-formed answers', async () => {
  const { failures, requests, byStatus, byOperation } = await fuzz(world, { seed: 1, count: 500 })
  expect(failures.join('\n\n')).toBe('')
  expect(requests).toBe(500)
  expect(Object.keys(byOperation).sort()).toEqual(Object.keys(operations).sort())
  for (const statuses of Object.values(byOperation)) expect(statuses).not.toEqual({})
  expect(byStatus[400]).toBeGreaterThan(100)
  expect((byStatus[200] ?? 0) + (byStatus[201] ?? 0)).toBeGreaterThan(50)
})

test('a seed gives the same requests again, and another seed others', () => {
  const made = (seed: number) => JSON.stringify(Array.from({ length: 50 }, (_, index) => generate(seed, index, world)))
  expect(made(7)).toBe(made(7))
  expect(made(7)).not.toBe(made(8))
})

describe('the judge', () => {
  let request: GeneratedRequest
  let refused: WireResponse
  let taken: WireResponse
  beforeAll(async () => {
    const operation = world.operations.find((each) => each.operationId === 'queryRecords')!
    const headers: [string, string][] = [
      ['Authorization', `Bearer ${world.tokens.acme}`],
      ['X-Service-Tenant', 'acme'],
      ['X-Service-Request-ID', '01890a5d-ac96-774b-bcce-b302099a8057'],
    ]
    request = { index: 0, operation, method: 'GET', target: operation.path, headers, body: undefined, mutations: [] }
    const sender = createSender(hub.baseUrl)
    ;[taken] = (await sender.send(request)) as [WireResponse]
    ;[refused] = (await sender.send({ ...request, target: `${operation.path}?limit=0` })) as [WireResponse]
    sender.close()
  })
  const judged = (answer: WireResponse) => checkResponse(request, answer, hub.baseUrl).join('; ')
  const withMembers = (answer: WireResponse, members: object): WireResponse => ({
    ...answer,
    body: Buffer.from(JSON.stringify({ ...JSON.parse(answer.body.toString()), ...members })),
  })
  const withHeaders = (answer: WireResponse, headers: Record<string, string>): WireResponse => ({
    ...answer,
    headers: { ...answer.headers, ...headers },
  })

  test('has nothing to say about right answers', () => {
    expect([taken.status, judged(taken)]).toEqual([200, ''])
    expect([refused.status, judged(refused)]).toEqual([400, ''])
  })

  test.each<[string, () => WireResponse]>([
    ['status 500', () => ({ ...refused, status: 500 })],
    ['content type text/html', () => withHeaders(refused, { 'content-type': 'text/html' })],
    ['content type application/json', () => withHeaders(refused, { 'content-type': 'application/json' })],
    ['request id ""', () => withHeaders(refused, { 'x-service-request-id': '' })],
    [
      'another request id than the client sent',
      () => withHeaders(refused, { 'x-service-request-id': '01890a5d-ac96-774b-bcce-b302099a8058' }),
    ],
    ['not JSON', () => ({ ...refused, body: Buffer.from('<p>') })],
    ['type about:blank', () => withMembers(refused, { type: 'about:blank' })],
    ['type', () => withMembers(refused, { type: `${hub.baseUrl}/errors/made-up` })],
    ['not-found with 400', () => withMembers(refused, { type: `${hub.baseUrl}/errors/not-found` })],
    ['status member 401', () => withMembers(refused, { status: 401 })],
    ['no detail', () => withMembers(refused, { detail: '' })],
    ['instance', () => withMembers(refused, { instance: 'x' })],
    ['no errors', () => withMembers(refused, { errors: undefined })],
    ['pointer limit', () => withMembers(refused, { errors: [{ pointer: 'limit', detail: 'x' }] })],
    ['shows its inside', () => withMembers(refused, { detail: 'Error: x\n    at f (/app/server/db/x.ts:1:1)' })],
    ['shows its inside', () => withMembers(refused, { detail: 'duplicate key value' })],
    ['not as described', () => withMembers(taken, { records: [{}] })],
    ['not as described', () => withMembers(taken, { extra: 1 })],
    ['418 is not in the OpenAPI document', () => ({ ...refused, status: 418 })],
    ['405 without Allow', () => ({ ...refused, status: 405 })],
    ['no Retry-After', () => ({ ...refused, status: 429 })],
  ])('objects to %s', (complaint, answer) => {
    expect(judged(answer())).toContain(complaint)
  })
})
