import type pg from 'pg'
import type { BrowserContext, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { formatRecordHash, recordHash } from '../../provenance/index.ts'
import { canonicalText } from '../../web/verification/record-steps.ts'
import { sealedLog } from '../provenance/export-lab.ts'
import { logKey } from '../provenance/fixtures.ts'
import { sha256 } from '../provenance/node-crypto.ts'
import { smallHub } from '../web/verification-lab.ts'
import { startUiLab, type UiLab } from './ui-lab.ts'

let lab: UiLab
let superuser: pg.Client
let admin: BrowserContext
let page: Page
let recordId: string
beforeAll(async () => {
  lab = await startUiLab({ events: 60 })
  superuser = await lab.hub.superuserClient()
})
afterAll(() => lab?.stop())
beforeEach(async () => {
  await admin?.close()
  admin = await lab.profileOf('admin')
  page = await admin.newPage()
  const body = {
    record_type: 'decision',
    decision_id: 'DEC-1',
    decision_subject: 'The renewal',
    decision_outcome: 'approved',
  }
  const more = { decision_rationale: 'Usage grew.', decision_actor_role: 'lead' }
  const written = await lab.hub.call('acme', 'POST', '/api/v1/hub/records', { body: { ...body, ...more } })
  recordId = written.body.record_id
})

const edit = (change: string) =>
  superuser.query(`update hub.records set ${change} where tenant_id = 'acme' and record_id = $1`, [recordId])

/** What this browser finds of the record: the words of the verdict, and the steps that failed. */
async function seen(): Promise<[string, ...string[]]> {
  await page.goto(lab.address(`/records/${recordId}`))
  const card = page.locator('section[data-verdict][aria-busy="false"]')
  await card.waitFor()
  const title = await card.getByRole('heading', { level: 2 }).textContent()
  const steps = await card.locator('[data-state="failed"]').all()
  const failed = await Promise.all(steps.map(async (step) => (await step.getAttribute('data-step')) ?? ''))
  // What is not genuine shows its steps by itself, and nobody can fold them away.
  const isGenuine = title === 'Verified by this browser'
  const isAgreed = (await card.getByText('All 8 steps passed; the Hub agrees.').count()) === 1
  expect(await card.getByRole('button', { name: /the 8 steps/ }).count()).toBe(isAgreed ? 1 : 0)
  if (!isGenuine) expect(isAgreed).toBe(false)
  expect(await card.locator('[data-step="record"]').count()).toBe(isAgreed ? 0 : 1)
  return [title ?? '', ...failed]
}

/** Replaces members of an answer of the API, as a Hub that lies would. */
async function lie(path: RegExp, change: (answer: Record<string, unknown>, route: Route) => unknown) {
  await admin.route(
    (url) => path.test(url.pathname),
    async (route) => {
      const response = await route.fetch()
      const body = await response.text()
      await route.fulfill({ response, json: change(JSON.parse(body), route) })
    },
  )
}

const allGood = {
  verified: true,
  checks: {
    provenance_hash_matches: true,
    provenance_cosign_valid: true,
    schema_version_supported: true,
    no_active_legal_hold_violation: true,
  },
}
const record = () => new RegExp(`/hub/records/${recordId}$`)
const proof = () => new RegExp(`/hub/records/${recordId}/proof$`)
const keys = /provenance-keys\.json$/

test('a genuine record is verified, step by step, and what was compared is shown', async () => {
  expect(await seen()).toEqual(['Verified by this browser'])
  const card = page.locator('section[data-verdict="verified"]')
  await card.getByRole('button', { name: 'Show the 8 steps' }).click()
  expect(await card.locator('[data-state="passed"]').count()).toBe(8)
  await card.getByRole('button', { name: /Canonical text has the stored hash/ }).click()
  const { provenance_hash } = (await lab.hub.call('acme', 'GET', `/api/v1/hub/records/${recordId}`)).body
  expect(await card.locator('[data-step="hash"] code', { hasText: provenance_hash }).count()).toBe(2)
  await card.getByRole('button', { name: 'Hide the 8 steps' }).click()
  expect(await card.locator('[data-step]').count()).toBe(0)
  expect(lab.complaints).toEqual([])
})

test.each([
  ['what it says', `canonical = replace(canonical, 'approved', 'rejected')`, ['hash']],
  ['its hash', `provenance_hash = sha256('x')`, ['hash', 'signature', 'log']],
  ['its salt', `salt = set_byte(salt, 15, 255 - get_byte(salt, 15))`, ['signature', 'log']],
])('edited by SQL, %s shows red though the Hub is made to lie', async (_, change, steps) => {
  await edit(change)
  expect(await seen()).toEqual(['Tampered', ...steps])
  expect(await page.getByText('The Hub says: not verified').isVisible()).toBe(true)
  await lie(record(), (answer) => ({ ...answer, verification: allGood }))
  expect(await seen()).toEqual(['Tampered', ...steps])
  await page.getByText('The Hub says “verified”, and this browser found otherwise').waitFor()
})

test('a column edited by SQL is told apart: the record is genuine, and the Hub says no', async () => {
  await edit(`created_by = 'somebody'`)
  expect(await seen()).toEqual(['Verified by this browser'])
  await page.getByText('The Hub says “not verified”, though every step here passed').waitFor()
})

test('a Hub that makes the hash anew for what it changed cannot sign it', async () => {
  await lie(record(), (answer) => {
    const changed = { ...answer, decision_outcome: 'rejected', verification: allGood } as never
    return { ...(changed as object), provenance_hash: formatRecordHash(recordHash(canonicalText(changed)!, sha256)) }
  })
  expect(await seen()).toEqual(['Tampered', 'signature', 'log'])
})

test('a Hub with keys of its own is believed at the first use at most', async () => {
  expect(await seen()).toEqual(['Verified by this browser'])
  const { body } = await lab.hub.call('acme', 'GET', '/.well-known/provenance-keys.json')
  const { name: logName } = await ownKey()
  const strange = logKey(logName, 'strange')
  const forged = smallHub({ key: strange, log: sealedLog([1], strange) })
  const published = await forged.keyDocument()
  await lie(keys, () => published)
  expect(await seen()).toEqual(['Tampered', 'keys'])
  await page.getByText('is not published any more').waitFor()
  await admin.unrouteAll()
  await lie(keys, () => ({ keys: [...body.keys, ...(published as unknown as typeof body).keys] }))
  expect(await seen()).toEqual(['Tampered', 'keys'])
  await page.getByText('no key that is known here introduces it').waitFor()

  async function ownKey(): Promise<{ name: string }> {
    const answer = await lab.hub.call('acme', 'GET', '/api/v1/hub/log/checkpoint')
    return { name: answer.body.log_name }
  }
})

test('an old state of the log, and a fork of it, are found out', async () => {
  const { body: old } = await lab.hub.call('acme', 'GET', `/api/v1/hub/records/${recordId}/proof`)
  const { body: state } = await lab.hub.call('acme', 'GET', '/api/v1/hub/log/checkpoint')
  await lab.hub.call('acme', 'POST', '/api/v1/hub/records', { body: { record_type: 'artifact', title: 'Later' } })
  expect(await seen()).toEqual(['Verified by this browser'])
  await lie(proof(), () => old)
  // The state in the proof was overtaken, which may be; only the newest one tells.
  expect(await seen()).toEqual(['Verified by this browser'])
  await lie(/\/hub\/log\/checkpoint$/, () => state)
  expect(await seen()).toEqual(['Tampered', 'history'])
  await admin.unrouteAll()
  await lie(/\/hub\/log\/consistency$/, (answer) => ({ ...answer, path: [] }))
  await lab.hub.call('acme', 'POST', '/api/v1/hub/records', { body: { record_type: 'artifact', title: 'Later still' } })
  expect(await seen()).toEqual(['Tampered', 'history'])
})

test('what the log has not taken in yet is not verified, and not red', async () => {
  await admin.route(
    (url) => proof().test(url.pathname),
    (route) =>
      route.fulfill({ status: 404, json: { type: 'https://x/errors/not-found', title: 'Not found', status: 404 } }),
  )
  expect(await seen()).toEqual(['Not verifiable yet'])
  await admin.unrouteAll()
  await page.getByRole('button', { name: 'Verify again' }).click()
  await page.locator('section[data-verdict="verified"]').waitFor()
})

test('another genuine record in its place is found out', async () => {
  const other = (await lab.hub.call('acme', 'GET', `/api/v1/hub/records/${lab.world.records.decision}?verify=true`))
    .body
  await lie(record(), () => other)
  expect((await seen()).slice(0, 2)).toEqual(['Tampered', 'record'])
})

test('all rows of the table are verified at once, and those that are tampered with are marked', async () => {
  await edit(`canonical = replace(canonical, 'approved', 'rejected')`)
  await lie(/\/hub\/records$/, (answer) => ({
    ...answer,
    records: (answer.records as object[]).map((each) => ({ ...each, verification: allGood })),
  }))
  await page.goto(lab.address('/records?record_type=decision&verify=true'))
  await page.getByRole('row').nth(2).waitFor()
  await page.getByRole('button', { name: 'Verify all on this page' }).click()
  await page.getByText(/tampered with$/).waitFor()
  await page.getByText(/The Hub says “verified” of \d+ of them/).waitFor()
  const row = page.getByRole('row', { name: /The renewal/ }).first()
  expect(await row.textContent()).toContain('Tampered')
  expect(
    await page
      .getByRole('row', { name: /Use of six drafts/ })
      .first()
      .textContent(),
  ).toContain('Genuine')
})

test('of a record that the list answers twice neither row is genuine', async () => {
  await lie(/\/hub\/records$/, (answer) => {
    const [first, ...others] = answer.records as object[]
    return { ...answer, records: [{ ...first, decision_subject: 'Forged' }, first, ...others] }
  })
  await page.goto(lab.address('/records?record_type=decision'))
  await page.getByRole('row', { name: /Forged/ }).waitFor()
  await page.getByRole('button', { name: 'Verify all on this page' }).click()
  await page.getByText(`${recordId}: the Hub answered its id twice`).waitFor()
  expect(await page.getByRole('row', { name: /Forged/ }).textContent()).toContain('Tampered')
})

test('answers without form leave a changed record red, and its page whole', async () => {
  const broken = {
    decision_outcome: 'rejected',
    created_at: 'x',
    related_records: null,
    verification: { verified: true },
  }
  await lie(record(), (answer) => ({ ...answer, ...broken }))
  await lie(proof(), () => null)
  expect(await seen()).toEqual(['Tampered', 'hash', 'log'])
  await page.getByText('The Hub says “verified”, and this browser found otherwise').waitFor()
  // One that never comes: the page waits for 15 seconds of its own clock.
  await page.clock.install()
  const asked = new Promise<void>((resolve) => {
    void admin.route(
      (url) => proof().test(url.pathname),
      () => resolve(),
    )
  })
  const found = seen()
  await asked
  await page.clock.fastForward(15_000)
  expect(await found).toEqual(['Tampered', 'hash'])
})
