// Runs on the page /sign-in. The page embeds this text unchanged; the page's policy contains its hash.
;(() => {
  const byId = (id) => document.getElementById(id)
  const tenant = byId('tenant')
  const returnTo = byId('return-to').value

  const knownTenants = 'hub-tenants'
  const knownTenantsMax = 5

  /** Returns the names of the tenants last used in this browser, latest first; none if storage is disabled. */
  function readTenants() {
    try {
      const names = JSON.parse(localStorage.getItem(knownTenants))
      return Array.isArray(names) ? names.filter((name) => typeof name === 'string').slice(0, knownTenantsMax) : []
    } catch {
      return []
    }
  }

  function rememberTenant() {
    const name = tenant.value.trim()
    const names = [name, ...readTenants().filter((each) => each !== name)].slice(0, knownTenantsMax)
    try {
      localStorage.setItem(knownTenants, JSON.stringify(names))
    } catch {
      // Storage is disabled or full: the name must be typed again.
    }
  }

  function suggestTenants() {
    const names = readTenants()
    for (const name of names) {
      const option = document.createElement('option')
      option.value = name
      byId('known-tenants').append(option)
    }
    if (tenant.value === '' && names.length > 0) tenant.value = names[0]
  }

  /**
   * Returns whether the browser keeps Secure cookies. Safari keeps none over plain http, even on localhost, so no
   * session would last.
   */
  function keepsSecureCookies() {
    const probe = 'service_probe=1; Path=/sign-in; Secure; SameSite=Strict'
    // biome-ignore lint/suspicious/noDocumentCookie: that it is set is what is tried; the newer interface needs https
    document.cookie = probe
    const kept = document.cookie.includes('service_probe=1')
    // biome-ignore lint/suspicious/noDocumentCookie: as above
    document.cookie = `${probe}; Max-Age=0`
    return kept
  }

  /** Returns the message of a rejected call. */
  async function refusalOf(response) {
    const problem = await response.json().catch(() => ({}))
    return problem.detail ?? problem.title ?? `The Hub answered ${response.status}.`
  }

  /** Runs `work` when the form is submitted with valid fields, and shows the result below the form. */
  function onSend(name, fields, work) {
    const form = byId(`${name}-form`)
    const result = byId(`${name}-result`)
    form?.addEventListener('submit', async (event) => {
      event.preventDefault()
      if (![tenant, ...fields].every((field) => field.reportValidity())) return
      const button = form.querySelector('button')
      button.disabled = true
      result.textContent = 'One moment …'
      try {
        result.textContent = await work()
      } catch {
        result.textContent = 'Cannot reach the Hub. Check the connection, then try again.'
      } finally {
        button.disabled = false
      }
    })
  }

  function post(path, body) {
    const headers = { 'content-type': 'application/json' }
    return fetch(path, { method: 'POST', headers, body: JSON.stringify({ ...body, tenant: tenant.value.trim() }) })
  }

  onSend('company', [], async () => {
    const query = new URLSearchParams({ tenant: tenant.value.trim(), return_to: returnTo })
    const login = `/api/v1/auth/login?${query}`
    // The first request does not follow redirects, so that a rejection is shown here and not as a bare document.
    const response = await fetch(login, { redirect: 'manual' })
    if (response.type !== 'opaqueredirect') return refusalOf(response)
    rememberTenant()
    location.assign(login)
    return 'On the way to your company …'
  })

  const linkEmail = byId('link-email')
  onSend('link', [linkEmail], async () => {
    const response = await post('/api/v1/auth/magic-link', { email: linkEmail.value.trim(), return_to: returnTo })
    if (!response.ok) return refusalOf(response)
    rememberTenant()
    return (await response.json()).detail
  })

  const mockEmail = byId('mock-email')
  onSend('mock', [mockEmail], async () => {
    const response = await post('/api/v1/auth/mock-login', { email: mockEmail.value.trim() })
    if (!response.ok) return refusalOf(response)
    rememberTenant()
    location.assign(byId('landing').value)
    return 'Signed in.'
  })

  suggestTenants()
  if (!keepsSecureCookies()) byId('cookie-notice').hidden = false
})()
