import { describe, expect, test } from 'vitest'
import { startHub } from '../support/hub.ts'

const path = '/api/v1/auth/mock-login'
const base = { HUB_BASE_URL: 'https://hub.example.com', HUB_SMTP_URL: 'smtp://127.0.0.1:1' }
const masterKey = Buffer.alloc(32, 7).toString('base64')

async function withHub(
  settings: Record<string, string>,
  work: (hub: Awaited<ReturnType<typeof startHub>>) => Promise<void>,
) {
  const hub = await startHub({ settings: { ...base, ...settings } })
  try {
    await work(hub)
  } finally {
    await hub.stop()
  }
}

const body = { email: 'kim@acme.example', tenant: 'acme' }

describe('mock login', () => {
  test('is there in staging', () =>
    withHub({ HUB_ENV: 'staging' }, async (hub) => {
      expect((await hub.call('acme', 'POST', path, { token: null, body })).status).toBe(200)
      // Only while developing is there a tenant that goes without saying.
      const unnamed = await hub.call('acme', 'POST', path, {
        token: null,
        headers: { 'x-service-tenant': undefined },
        body: { email: body.email },
      })
      expect([unnamed.status, unnamed.body.errors[0].pointer]).toEqual([400, '/tenant'])
      expect((await hub.call('acme', 'GET', '/sign-in', { token: null })).text).toContain('Mock sign-in')
    }))

  test('does not exist in production: not as an address, not in the description, not on a page', () =>
    withHub({ HUB_ENV: 'production', HUB_MASTER_KEY: masterKey }, async (hub) => {
      const nothing = await hub.call('acme', 'POST', '/api/v1/auth/nothing', { token: null, body })
      for (const method of ['POST', 'GET', 'OPTIONS']) {
        const answer = await hub.call('acme', method, path, { token: null, body })
        expect([answer.status, answer.headers.allow]).toEqual([404, undefined])
        expect(answer.body.detail).toBe(nothing.body.detail)
      }
      const { body: description } = await hub.call('acme', 'GET', '/v1/openapi.json', { token: null })
      expect(Object.keys(description.paths)).toContain('/api/v1/auth/magic-link')
      expect(Object.keys(description.paths)).not.toContain(path)
      const { text } = await hub.call('acme', 'GET', '/sign-in', { token: null })
      expect(text).toContain('Send me a link')
      expect(text).not.toMatch(/mock sign-in|mock-form"/i)
    }))
})
