import { expect, test } from 'vitest'
import {
  invocationEventKinds,
  isEventName,
  testEventKind,
  userEventKinds,
  wantsKind,
} from '../../contract/webhook-events.ts'

test.each([
  ...userEventKinds,
  ...invocationEventKinds,
  'user.*',
  'skill.*',
  'governance.*',
  'governance.hub.*',
  'governance.auth.login',
  'governance.custom.audit.x_1',
  `governance.${'x'.repeat(117)}`,
])('%s can be named', (name) => {
  expect(isEventName(name)).toBe(true)
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
  `governance.${'x'.repeat(118)}`,
  'toString',
])('%j cannot', (name) => {
  expect(isEventName(name)).toBe(false)
})

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
