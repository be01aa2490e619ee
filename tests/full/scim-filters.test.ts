import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DomainError } from '../../contract/domain-error.ts'
import { applyPatch } from '../../server/modules/scim/patch.ts'
import { readPatch } from '../../server/modules/scim/patch-operations.ts'
import { userResource } from '../../server/modules/scim/scim-schemas.ts'
import { connectScim, type ScimClient } from '../scim/scim-client.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
let scim: ScimClient
beforeAll(async () => {
  hub = await startHub()
  scim = await connectScim(hub, 'acme')
  await scim.user('kim', { title: 'Lead', phoneNumbers: [{ value: '1', type: 'work' }] })
  await scim.user('sam', { active: false })
})
afterAll(() => hub.stop())

const quoted = fc
  .oneof(
    fc.constantFrom('kim', 'work', '%', "'", '\\', '2026-01-01T00:00:00Z', '9999-12-31T23:59:59-23:59', ''),
    fc.string(),
  )
  .map((text) => JSON.stringify(text))
const word = fc.constantFrom(
  ...[
    'userName',
    'externalId',
    'id',
    'name',
    'name.givenName',
    'emails',
    'emails.type',
    'phoneNumbers.primary',
    'active',
    'groups',
  ],
  ...[
    'groups.value',
    'meta.created',
    'meta.version',
    'schemas',
    'manager',
    'x509Certificates',
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department',
  ],
  ...[
    'and',
    'or',
    'not',
    'eq',
    'ne',
    'co',
    'sw',
    'ew',
    'gt',
    'le',
    'pr',
    'true',
    'false',
    'null',
    '(',
    ')',
    '[',
    ']',
    '.value',
    '__proto__',
    '1',
    '-',
  ],
)
const anyText = fc
  .array(fc.oneof({ weight: 5, arbitrary: word }, quoted), { maxLength: 12 })
  .map((parts) => parts.join(' '))
const attribute = fc.constantFrom(
  'userName',
  'title',
  'name.familyName',
  'emails',
  'emails.value',
  'active',
  'meta.created',
  'groups.value',
  'manager',
)
const operator = fc.constantFrom('eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le')
const comparison = fc.oneof(
  fc.tuple(attribute, operator, fc.oneof(quoted, fc.constantFrom('true', 'null'))).map((parts) => parts.join(' ')),
  attribute.map((name) => `${name} pr`),
  fc.tuple(operator, quoted).map(([how, value]) => `emails[type ${how} ${value} or value pr]`),
)
const wellFormed = fc.letrec<{ filter: string }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 4 },
    comparison,
    fc.tuple(tie('filter'), fc.constantFrom('and', 'or'), tie('filter')).map((parts) => parts.join(' ')),
    tie('filter').map((inner) => `not (${inner})`),
  ),
})).filter

test('whatever a filter says, it is answered or refused, by the directory too', async () => {
  let answered = 0
  await fc.assert(
    fc.asyncProperty(fc.oneof(anyText, wellFormed), async (filter) => {
      const { status, body } = await scim.post('/Users/.search', { filter, sortBy: 'emails' })
      if (status === 200) answered++
      else expect([filter, status, body.scimType]).toEqual([filter, 400, 'invalidFilter'])
    }),
    { numRuns: 300 },
  )
  expect(answered).toBeGreaterThan(20)
})

test('a filter and its negation share out everybody', async () => {
  await fc.assert(
    fc.asyncProperty(wellFormed, async (filter) => {
      const [chosen, others] = [
        await scim.post('/Users/.search', { filter }),
        await scim.post('/Users/.search', { filter: `not (${filter})` }),
      ]
      if (chosen.status === 200) expect(chosen.body.totalResults + others.body.totalResults).toBe(2)
    }),
    { numRuns: 100 },
  )
})

test('whatever a PATCH says, it is done or refused', () => {
  const value = fc.oneof(
    fc.constantFrom('x', true, 'True', null, [], { value: 'v', type: 'work' }, [{ primary: true }], 7),
    fc.jsonValue(),
  )
  const operation = fc.record(
    {
      op: fc.constantFrom('add', 'Replace', 'remove'),
      path: fc.oneof(anyText, attribute, fc.constant('emails[type eq "work"].value')),
      value,
    },
    { requiredKeys: ['op'] },
  )
  const person = {
    userName: 'kim',
    active: true,
    emails: [{ value: 'a', type: 'work', primary: true }],
    name: { givenName: 'K' },
  }
  fc.assert(
    fc.property(fc.array(operation, { minLength: 1, maxLength: 5 }), (Operations) => {
      try {
        const after = applyPatch(person, readPatch(userResource, 'usr_1', { Operations }))
        const emails = (after.emails ?? []) as { primary?: boolean }[]
        expect(emails.filter(({ primary }) => primary).length).toBeLessThanOrEqual(1)
      } catch (error) {
        expect(error).toBeInstanceOf(DomainError)
        expect((error as DomainError).extensions.scimType).toEqual(expect.any(String))
      }
    }),
    { numRuns: 2000 },
  )
})
