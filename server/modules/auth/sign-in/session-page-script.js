// Runs on the page /session. Tokens stay in its variables: it stores and shows none of them.
;(() => {
  const byId = (id) => document.getElementById(id)
  const status = byId('status')
  let token

  /** By the cookie of the session, which outlives every access token: signing out works at any time. */
  function call(path, body) {
    const headers = body ? { 'content-type': 'application/json' } : {}
    return fetch(`/api/v1/auth/${path}`, { method: 'POST', headers, ...(body && { body: JSON.stringify(body) }) })
  }

  /** A refusal as an error whose message can be shown. */
  async function answerOf(response) {
    const answer = response.status === 204 ? {} : await response.json().catch(() => ({}))
    if (response.ok) return answer
    const problem = new Error(answer.detail ?? `The Hub answered ${response.status}.`)
    problem.status = response.status
    throw problem
  }

  function showTime(id, date) {
    const time = document.createElement('time')
    time.dateTime = date.toISOString()
    time.textContent = date.toLocaleString()
    byId(id).replaceChildren(time)
  }

  function keep(issued) {
    token = issued
    showTime('token-until', new Date(Date.now() + issued.expires_in * 1000))
  }

  async function tokenOfSession() {
    token = undefined
    keep(await answerOf(await call('token')))
  }

  /** Somebody else may have signed in with this browser since, so what the session itself gives comes with the person. */
  async function refresh() {
    if (!token) return show()
    const body = { grant_type: 'refresh_token', refresh_token: token.refresh_token }
    // It is good once. If the answer is lost, sending it again would later pass for the use of a stolen one.
    token = undefined
    const response = await call('token', body)
    if (response.status === 401) await show()
    else keep(await answerOf(response))
  }

  async function show() {
    await tokenOfSession()
    const headers = { authorization: `Bearer ${token.access_token}` }
    const me = await answerOf(await fetch('/api/v1/auth/me', { headers }))
    byId('who').textContent = [me.display_name, me.email].filter(Boolean).join(', ') || me.subject
    byId('user-id').textContent = me.subject
    byId('tenant').textContent = me.tenant
    byId('role').textContent = me.role ?? ''
    byId('scopes').textContent = me.scopes.join(' ')
    if (me.session) showTime('session-until', new Date(me.session.expires_at))
    byId('signed-in').hidden = false
    byId('signed-out').hidden = true
    status.textContent = 'You are signed in.'
  }

  function forget() {
    token = undefined
    byId('signed-in').hidden = true
    for (const field of document.querySelectorAll('dd')) field.textContent = ''
  }

  /** Tabs of the web UI leave when they hear it (web/api/session.ts), and where none is open their token goes here. */
  function tellOtherTabs() {
    try {
      localStorage.removeItem('hub-token')
    } catch {
      // Storage is switched off: nothing was stored.
    }
    const tabs = new BroadcastChannel('hub-session')
    tabs.postMessage({ kind: 'signed-out' })
    tabs.close()
  }

  function showSignedOut(text) {
    forget()
    byId('signed-out').hidden = false
    status.textContent = text
  }

  /** Does one thing at a time, and says what came of it. */
  async function attempt(work) {
    const buttons = document.querySelectorAll('button')
    const pressed = document.activeElement
    for (const button of buttons) button.disabled = true
    try {
      await work()
    } catch (error) {
      if (error.status === 401) showSignedOut('You are not signed in.')
      else status.textContent = error.status ? error.message : 'Cannot reach the Hub. Check the connection.'
    } finally {
      for (const button of buttons) button.disabled = false
      // A button that is disabled loses the focus, and the keyboard its place.
      if (pressed?.localName === 'button') (byId('signed-in').hidden ? byId('sign-in') : pressed).focus()
    }
  }

  byId('refresh').addEventListener('click', () =>
    attempt(async () => {
      await refresh()
      status.textContent = 'The access token was refreshed.'
    }),
  )
  byId('sign-out').addEventListener('click', () =>
    attempt(async () => {
      await answerOf(await call('logout'))
      tellOtherTabs()
      showSignedOut('You are signed out.')
    }),
  )
  byId('sign-out-everywhere').addEventListener('click', () =>
    attempt(async () => {
      await answerOf(await call('logout', { everywhere: true }))
      tellOtherTabs()
      showSignedOut('You are signed out everywhere.')
    }),
  )
  // The back button may show a page as it was left, to whoever sits there then.
  addEventListener('pagehide', () => {
    forget()
    status.textContent = 'Looking for your session …'
  })
  addEventListener('pageshow', (event) => {
    if (event.persisted) attempt(show)
  })
  attempt(show)
})()
