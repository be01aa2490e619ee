// Runs on the page /session. Tokens stay in its variables: the script neither stores nor shows them.
;(() => {
  const byId = (id) => document.getElementById(id)
  const status = byId('status')
  let token

  /** Calls the API with the session cookie, which outlives every access token, so signing out works at any time. */
  function call(path, body) {
    const headers = body ? { 'content-type': 'application/json' } : {}
    return fetch(`/api/v1/auth/${path}`, { method: 'POST', headers, ...(body && { body: JSON.stringify(body) }) })
  }

  /** Returns the body of a response; throws an error with a displayable message for a rejection. */
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

  /**
   * Refreshes the token. Somebody else may have signed in with this browser since, so a new session also shows its
   * person.
   */
  async function refresh() {
    if (!token) return show()
    const body = { grant_type: 'refresh_token', refresh_token: token.refresh_token }
    // The token is valid once. If the response is lost, sending it again would count as the use of a stolen token.
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

  /**
   * Notifies tabs of the web UI, which then leave (web/api/session.ts). Removes their token for the case that none is
   * open.
   */
  function tellOtherTabs() {
    try {
      localStorage.removeItem('hub-token')
    } catch {
      // Storage is disabled: nothing was stored.
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

  /** Runs one action at a time and shows its result. */
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
      // A disabled button loses the focus, and keyboard users their position.
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
  // The back button may show the page in its former state to the next user of the browser.
  addEventListener('pagehide', () => {
    forget()
    status.textContent = 'Looking for your session …'
  })
  addEventListener('pageshow', (event) => {
    if (event.persisted) attempt(show)
  })
  attempt(show)
})()
