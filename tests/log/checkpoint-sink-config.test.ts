import { expect, test } from 'vitest'
import { loadConfig } from '../../server/config.ts'

const sinksOf = (text?: string, env: Record<string, string> = {}) =>
  loadConfig({ HUB_DATA_DIR: '/data', ...(text && { HUB_CHECKPOINT_SINK: text }), ...env }).checkpointSinks

test('without it there is a folder in the data directory, and off is nowhere', () => {
  expect(sinksOf()).toEqual([{ kind: 'file', directory: '/data/checkpoints' }])
  expect(sinksOf('off')).toEqual([])
})

test('several, with commas between them', () => {
  expect(sinksOf('file:///mnt/a, https://keeper.example/x?key=1,http://127.0.0.1:9/')).toEqual([
    { kind: 'file', directory: '/mnt/a' },
    { kind: 'webhook', url: 'https://keeper.example/x?key=1' },
    { kind: 'webhook', url: 'http://127.0.0.1:9/' },
  ])
})

const staging = { HUB_ENV: 'staging', HUB_BASE_URL: 'https://hub.example' }
test.each([
  ['nowhere', {}, /entry 1 neither a file: URL nor an http/],
  ['file:///mnt/a,,', {}, /entry 2 neither/],
  ['file://host/mnt', {}, /entry 1 more than a path/],
  ['file:///', {}, /no directory/],
  ['https://u:topsecret@keeper.example', {}, /with a user, a password/],
  ['http://keeper.example', staging, /is not https/],
])('%s is refused and not repeated', (text, env, message) => {
  let problem = ''
  try {
    sinksOf(text, env as Record<string, string>)
  } catch (error) {
    problem = String((error as Error).message)
  }
  expect(problem).toContain('HUB_CHECKPOINT_SINK')
  expect(problem).toMatch(message)
  expect(problem).not.toContain('topsecret')
})
