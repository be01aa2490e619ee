import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type LinkLab, press, startLinkLab } from './link-lab.ts'

const email = 'kim@acme.example'

let lab: LinkLab
beforeAll(async () => {
  lab = await startLinkLab()
  await lab.add('acme', email, 'analyst')
})
afterAll(() => lab.stop())
beforeEach(() => lab.age('acme', '2 hours'))

/** Where the button of a link leads. */
async function landingOf(link: string): Promise<unknown> {
  const response = await press(link)
  return [response.status, response.headers.get('location')]
}

async function mailedLink(returnTo: string): Promise<string> {
  const count = lab.mail.received.length
  const answer = await lab.request({ email, tenant: 'acme', return_to: returnTo })
  expect(answer.status).toBe(202)
  return lab.linkAfter(count)
}

const elsewhere = [
  '//evil.example',
  '/\\evil.example',
  'https://evil.example/',
  'javascript:alert(1)',
  '/..//evil.example',
]

describe('a mailed link', () => {
  test('leads to where its asker wanted to go', async () => {
    const link = await mailedLink('/records?q=a&b=c#d')
    expect(new URL(link).searchParams.get('return_to')).toBe('/records?q=a&b=c#d')
    expect(await landingOf(link)).toEqual([303, '/records?q=a&b=c#d'])
  })

  test.each(['//evil.example', '/', `/${'x'.repeat(1000)}`])(
    'says no place for %j, and leads to the web UI',
    async (to) => {
      const link = await mailedLink(to)
      expect(new URL(link).search).toBe('')
      expect(await landingOf(link)).toEqual([303, '/'])
    },
  )

  test('takes a place of 1,000 characters', async () => {
    const place = `/${'x'.repeat(999)}`
    expect(await landingOf(await mailedLink(place))).toEqual([303, place])
  })

  test('is not asked for with a place of more than 2,000 characters', async () => {
    const answer = await lab.request({ email, tenant: 'acme', return_to: `/${'x'.repeat(2000)}` })
    expect(answer.status).toBe(400)
  })
})

describe('a welcome link', () => {
  const welcomeUrl = async () => {
    const { welcome } = await lab.hub.modules.tenants.administration.welcomeLink('acme', { operator: 'test' })
    return `${lab.hub.baseUrl}${new URL(welcome.url).pathname}`
  }

  test('leads to the web UI, or where its address says', async () => {
    expect(await landingOf(await welcomeUrl())).toEqual([303, '/'])
    expect(await landingOf(`${await welcomeUrl()}?return_to=/onboarding`)).toEqual([303, '/onboarding'])
  })

  test.each(elsewhere)('never to %s', async (to) => {
    expect(await landingOf(`${await welcomeUrl()}?return_to=${encodeURIComponent(to)}`)).toEqual([303, '/'])
  })
})

describe('the page /sign-in', () => {
  const hidden = async (query: string) => {
    const { text } = await lab.hub.call('acme', 'GET', `/sign-in${query}`, { token: null })
    return ['return-to', 'landing'].map((id) => new RegExp(`id="${id}" value="([^"]*)"`).exec(text)?.[1])
  }

  test('knows where every way leads', async () => {
    expect(await hidden('')).toEqual(['/', '/'])
    expect(await hidden('?tenant=acme&return_to=%2Frecords%3Fq%3D1%26r%3D2')).toEqual([
      '/records?q=1&amp;r=2',
      '/records?q=1&amp;r=2',
    ])
    expect(await hidden('?return_to=/%22%3E%3Cscript%3E')).toEqual(['/%22%3E%3Cscript%3E', '/%22%3E%3Cscript%3E'])
    expect(await hidden('?return_to=/a&return_to=/b')).toEqual(['/', '/'])
  })

  test.each(elsewhere)('leads nobody to %s', async (to) => {
    expect(await hidden(`?return_to=${encodeURIComponent(to)}`)).toEqual(['/', '/'])
  })
})
