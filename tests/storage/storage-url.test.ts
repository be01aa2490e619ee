import { expect, test } from 'vitest'
import { readAwsSettings, readStorageUrl } from '../../server/config/storage-url.ts'
import { loadConfig } from '../../server/config.ts'

test('a directory', () => {
  expect(readStorageUrl('file:///var/lib/hub%20files/')).toEqual({ kind: 'file', directory: '/var/lib/hub files' })
})

test('a bucket, with all that can be said about it', () => {
  const url =
    's3://bucket/some/prefix/?endpoint=https://s3.example.com:9000&region=eu-1&access_key_id=A&secret_access_key=S'
  expect(readStorageUrl(url)).toEqual({
    kind: 's3',
    bucket: 'bucket',
    prefix: 'some/prefix',
    region: 'eu-1',
    endpoint: 'https://s3.example.com:9000',
    credentials: { accessKeyId: 'A', secretAccessKey: 'S' },
  })
})

test('what the URL does not say is said by the variables of Amazon’s tools', () => {
  const aws = loadConfig({
    AWS_REGION: 'eu-2',
    AWS_ENDPOINT_URL_S3: 'https://s3.example.com',
    AWS_ACCESS_KEY_ID: 'A',
    AWS_SECRET_ACCESS_KEY: 'S',
    AWS_SESSION_TOKEN: 'T',
  }).aws
  const credentials = { accessKeyId: 'A', secretAccessKey: 'S', sessionToken: 'T' }
  expect(readStorageUrl('s3://bucket', aws)).toEqual({
    kind: 's3',
    bucket: 'bucket',
    prefix: '',
    region: 'eu-2',
    endpoint: 'https://s3.example.com',
    credentials,
  })
  expect(readStorageUrl('s3://bucket?region=eu-1', aws)).toMatchObject({ region: 'eu-1', credentials })
  expect(readAwsSettings(() => undefined)).toEqual({})
})

test.each([
  'ftp://files',
  'file://host/path',
  'file:///',
  'file:///a?b=c',
  's3://',
  's3://UP_PER',
  's3://key:secret@bucket',
  's3://bucket/a b',
  's3://bucket?other=1',
  's3://bucket?endpoint=ftp://x',
  's3://bucket?access_key_id=SECRET',
])('%s is refused, without being repeated', (url) => {
  const problem = () => loadConfig({ HUB_STORAGE_URL: url })
  expect(problem).toThrow(/HUB_STORAGE_URL/)
  expect(problem).not.toThrow(/SECRET|secret@/)
})
