import { expect, test } from 'vitest'
import { HubProblem, HubUnreachable } from '../../web/api/problem.ts'
import { fieldErrors } from '../../web/components/field-errors.ts'

const problem = (...pointers: string[]) =>
  new HubProblem(400, { errors: pointers.map((pointer) => ({ pointer, detail: `must fit ${pointer}` })) })

const values = {
  name: 'Desk',
  expires_at: undefined,
  thresholds: { latency_ms: '' },
  domains: ['a.example', 'b.example'],
  ids: 'one\ntwo',
  skills: [{ skill_id: 'triage' }],
}

test.each([
  ['a member', '/name', 'name'],
  ['an empty member', '/expires_at', 'expires_at'],
  ['a member of a member', '/thresholds/latency_ms', 'thresholds.latency_ms'],
  ['an entry of a list that one field edits', '/domains/1', 'domains'],
  ['an entry of a list that is typed as text', '/ids/1', 'ids'],
  ['a member of an entry with fields of its own', '/skills/0/skill_id', 'skills.0.skill_id'],
])('the error of %s is shown at its field', (_, pointer, field) => {
  expect(fieldErrors(problem(pointer), values)).toEqual({
    atFields: { [field]: `Must fit ${pointer}` },
    elsewhere: [],
  })
})

test.each(['/query/limit', '/unknown', '/skills/0', '/skills/1/skill_id', '/thresholds', '', '/na~1me'])(
  'the error at %j has no field, and stays in the notice',
  (pointer) => {
    const { atFields, elsewhere } = fieldErrors(problem(pointer), values)
    expect([atFields, elsewhere.map((each) => each.pointer)]).toEqual([{}, [pointer]])
  },
)

test('a form may have other names for members, and one field may show several errors', () => {
  const fieldOf = (member: string) => (member.startsWith('cmek') ? 'key' : undefined)
  expect(fieldErrors(problem('/cmek/key_ref', '/cmek/provider', '/name'), values, fieldOf).atFields).toEqual({
    key: 'Must fit /cmek/key_ref Must fit /cmek/provider',
    name: 'Must fit /name',
  })
})

test('failures without a problem document have no errors of fields', () => {
  expect(fieldErrors(new HubUnreachable(undefined), values)).toEqual({ atFields: {}, elsewhere: [] })
})
