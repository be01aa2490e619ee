import { expect, test } from 'vitest'
import { governanceFamilies, governanceKinds } from '../../contract/governance-kinds.ts'
import {
  alertEventKinds,
  budgetEventKinds,
  invocationEventKinds,
  isMessageKind,
  problemOfEventName,
  testEventKind,
  userEventKinds,
  wantsKind,
} from '../../contract/webhook-events.ts'

test.each([
  ...userEventKinds,
  ...invocationEventKinds,
  ...budgetEventKinds,
  'user.*',
  'budget.*',
  'skill.*',
  'governance.*',
  'governance.hub.*',
  'governance.auth.login',
  'governance.custom.audit.x_1',
  ...governanceKinds.map((kind) => `governance.${kind}`),
  ...governanceFamilies.map((family) => `governance.${family}.*`),
  'governance.custom.deploys.*',
  'governance.custom.Deploy:eu-1',
  `governance.custom.${'x'.repeat(121)}`,
])('%s can be named', (name) => {
  expect(problemOfEventName(name)).toBeUndefined()
})

test.each([
  '',
  '*',
  'user',
  'user.',
  'user.born',
  'skill.alert_opened',
  testEventKind,
  'webhook.*',
  'governance',
  'governance.',
  'governance..x',
  'governance.*.x',
  'governance.hub*',
  'governance.Auth.login',
  'governance.auth.login ',
  'governance.auth.login\n',
  `governance.custom.${'x'.repeat(122)}`,
  'governance.custom.',
  'governance.custom..*',
  'governance.custom.a b',
  'governance.customs.x',
  'governance.nope',
  'governance.nope.*',
  'governance.auth.logn',
  'governance.hub.export.*',
  'governance.webhook.test',
  'toString',
])('%j cannot', (name) => {
  expect(problemOfEventName(name)).toEqual(expect.any(String))
})

test('what is wrong with a name says what there is instead', () => {
  expect(problemOfEventName('users.*')).toContain('user.provisioned, ')
  expect(problemOfEventName('governance.conector.added')).toContain(
    'governance.cmek.*, governance.connector.*, governance.custom.*',
  )
  expect(problemOfEventName('governance.auth.logn')).toMatch(/governance\.auth\.login, .*governance\.auth\.\*/)
})

test.each([
  ...userEventKinds,
  ...alertEventKinds,
  ...budgetEventKinds,
  testEventKind,
  'governance.auth.login',
  'governance.custom.x',
])('a message may be called %s', (kind) => expect(isMessageKind(kind)).toBe(true))

test.each(['nope', 'user.*', 'skill.alert', 'governance.auth', 'governance.auth.logn', 'auth.login', 'custom.x'])(
  'no message is called %s',
  (kind) => expect(isMessageKind(kind)).toBe(false),
)

test.each<[string[], string, boolean]>([
  [[], 'user.updated', false],
  [['user.updated'], 'user.updated', true],
  [['user.updated'], 'user.updated.more', false],
  [['skill.*', 'user.*'], 'user.deactivated', true],
  [['user.*'], 'users.x', false],
  [['user.*'], 'user', false],
  [['governance.*'], 'governance.auth.login', true],
  [['governance.auth.*'], 'governance.auth.login', true],
  [['governance.auth.*'], 'governance.authority.x', false],
  [['governance.auth.*'], 'governance.hub.provisioned', false],
])('an endpoint that names %j is told of %s: %s', (names, kind, told) => {
  expect(wantsKind(names, kind)).toBe(told)
})
