import { describe, expect, test } from 'vitest'
import { readSmtpUrl } from '../../server/config/smtp-url.ts'
import { loadConfig } from '../../server/config.ts'
import { ConfigError } from '../../server/startup-error.ts'

describe('HUB_SMTP_URL', () => {
  test('says host, port, encryption, login and sender', () => {
    expect(readSmtpUrl('smtp://mail.example.com')).toEqual({
      host: 'mail.example.com',
      port: 587,
      secure: false,
      requireTls: false,
      auth: undefined,
      from: undefined,
    })
    expect(readSmtpUrl('smtps://hub%40acme:p%3Aw@mail.example.com?from=hub@acme.example')).toEqual({
      host: 'mail.example.com',
      port: 465,
      secure: true,
      requireTls: false,
      auth: { user: 'hub@acme', pass: 'p:w' },
      from: { name: '', address: 'hub@acme.example' },
    })
    expect(readSmtpUrl('smtp://[::1]:2525/?from=Hub+%3Chub@acme.example%3E')).toMatchObject({
      host: '::1',
      port: 2525,
      from: { name: 'Hub', address: 'hub@acme.example' },
    })
  })

  test('never lets a password go out in clear, but on the own machine', () => {
    expect(readSmtpUrl('smtp://u:p@mail.example.com').requireTls).toBe(true)
    expect(readSmtpUrl('smtp://u:p@127.0.0.1').requireTls).toBe(false)
    expect(readSmtpUrl('smtp://mail.example.com?starttls=required').requireTls).toBe(true)
  })

  test.each([
    'http://mail.example.com',
    'mail.example.com',
    'smtp://',
    'smtp://mail.example.com/path',
    'smtp://mail.example.com?from=nobody',
    'smtp://mail.example.com?from=a@b.example%0d%0aBcc:x@y.example',
    'smtp://mail.example.com?from=a@b.example,c@d.example',
    'smtp://mail.example.com?starttls=no',
    'smtp://mail.example.com?tls.rejectUnauthorized=false',
    'smtp://u:secret%ZZ@mail.example.com',
  ])('%s is refused with the other problems of the configuration, and not repeated', (url) => {
    const load = () => loadConfig({ HUB_SMTP_URL: url, HUB_PORT: 'x' })
    expect(load).toThrow(ConfigError)
    expect(load).toThrow(/HUB_PORT[\s\S]*HUB_SMTP_URL|HUB_SMTP_URL[\s\S]*HUB_PORT/)
    expect(load).not.toThrow(/secret/)
  })
})
