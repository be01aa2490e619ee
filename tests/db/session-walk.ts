import { authorize, connect, newClient, newPkce, refresh, requestOf } from '../auth/client-lab.ts'
import { cookieNames, signIn } from '../auth/people.ts'
import type { TestHub } from '../support/hub.ts'

/** All that sends SQL about sessions. Leaves a live session with its families. */
export async function walkSessions(hub: TestHub, tenant: 'acme' | 'globex'): Promise<void> {
  const email = `walker@${tenant}.example`
  const [first, second, third, old] = await Promise.all([1, 2, 3, 4].map(() => signIn(hub, tenant, { email })))
  if (!first || !second || !third || !old) throw new Error('not signed in')
  for (const { browser } of [first, old]) {
    const { refresh_token: token } = (await browser.token()).body
    for (const each of [token, token]) expectFine(await browser.refresh(each))
    browser.forget(cookieNames.refresh)
    expectFine(await browser.token())
  }
  const { body } = await first.browser.call('GET', '/api/v1/auth/sessions?limit=1')
  expectFine(await first.browser.call('GET', `/api/v1/auth/sessions?limit=1&cursor=${body.next_cursor}`))
  expectFine(await first.browser.call('GET', '/api/v1/auth/me'))
  expectFine(await first.browser.call('DELETE', `/api/v1/auth/sessions/${second.session.sessionId}`))
  expectFine(await third.browser.call('POST', '/api/v1/auth/logout', { body: { everywhere: true } }))
  const person = await signIn(hub, tenant, { email })
  expectFine(await authorize(person.browser, requestOf(await newClient(hub.baseUrl), newPkce())))
  const agent = await connect(person, ['telemetry:read'])
  expectFine(await refresh(hub.baseUrl, agent.clientId, agent.refreshToken))
  const path = `/api/v1/roster/users/${person.user.userId}/sessions`
  const { body: listed } = await hub.call(tenant, 'GET', `${path}?limit=1`)
  expectFine(await hub.call(tenant, 'GET', `${path}?limit=1&cursor=${listed.next_cursor}`))
  expectFine(await hub.call(tenant, 'DELETE', `${path}/${agent.sessionId}`))
  const last = await signIn(hub, tenant, { email })
  expectFine(await last.browser.token())
  const superuser = await hub.superuserClient()
  await superuser.query(`update hub.sessions set expires_at = now() - interval '2 days' where session_id = $1`, [
    old.session.sessionId,
  ])
  for (const { run } of hub.modules.auth.chores) await hub.test.database.withTenant(tenant, (tx) => run(tx))
}

function expectFine({ status, body }: { status: number; body: unknown }): void {
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`)
}
