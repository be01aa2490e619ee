import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The settings in HUB_STORAGE_URL. */
export type StorageSettings = FileStorageSettings | S3StorageSettings

export interface FileStorageSettings {
  readonly kind: 'file'
  /** The absolute path. */
  readonly directory: string
}

export interface S3StorageSettings {
  readonly kind: 's3'
  readonly bucket: string
  /** The prefix without slashes at its ends; empty for the whole bucket. */
  readonly prefix: string
  readonly region: string | undefined
  /** The endpoint of a service other than Amazon's; its buckets are addressed by path. */
  readonly endpoint: string | undefined
  readonly credentials: S3Credentials | undefined
}

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

/** The standard variables of Amazon's tools. HUB_STORAGE_URL overrides them. */
export interface AwsSettings {
  readonly region?: string
  readonly endpoint?: string
  /** The endpoint of the key service. */
  readonly kmsEndpoint?: string
  readonly credentials?: S3Credentials
}

const parameters = ['endpoint', 'region', 'access_key_id', 'secret_access_key', 'session_token']

/**
 * Reads `file:///var/lib/hub/storage`, or
 * `s3://bucket/prefix?endpoint=https://…&region=…&access_key_id=…&secret_access_key=…`.
 *
 * @throws Error whose message completes "HUB_STORAGE_URL …" and does not repeat the URL: it may contain a secret
 */
export function readStorageUrl(text: string, aws: AwsSettings = {}): StorageSettings {
  const url = URL.parse(text)
  if (url?.protocol === 'file:') return { kind: 'file', directory: directoryOf(url) }
  if (url?.protocol !== 's3:') throw new Error('is not a URL that starts with file: or s3:.')
  const bucket = url.hostname
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    throw new Error('names no bucket, as s3://bucket/prefix does.')
  if (url.username !== '' || url.port !== '' || url.hash !== '') {
    throw new Error('has more than a bucket, a prefix and parameters.')
  }
  const unknown = [...url.searchParams.keys()].filter((name) => !parameters.includes(name))
  if (unknown.length > 0) throw new Error(`has parameters other than ${parameters.join(', ')}.`)
  const prefix = url.pathname.replaceAll(/^\/+|\/+$/g, '')
  if (!/^([A-Za-z0-9_.-]+(\/[A-Za-z0-9_.-]+)*)?$/.test(prefix)) {
    throw new Error('has a prefix with more than letters, digits, and the signs / - _ and .')
  }
  const value = (name: string) => url.searchParams.get(name) || undefined
  return {
    kind: 's3',
    bucket,
    prefix,
    region: value('region') ?? aws.region,
    endpoint: endpointOf(value('endpoint')) ?? aws.endpoint,
    credentials: credentialsOf(value) ?? aws.credentials,
  }
}

/**
 * Reads the standard variables of Amazon's tools.
 *
 * @param variable reads a variable of the environment
 */
export function readAwsSettings(variable: (name: string) => string | undefined): AwsSettings {
  const region = variable('AWS_REGION') ?? variable('AWS_DEFAULT_REGION')
  const endpoint = variable('AWS_ENDPOINT_URL_S3') ?? variable('AWS_ENDPOINT_URL')
  const kmsEndpoint = variable('AWS_ENDPOINT_URL_KMS') ?? variable('AWS_ENDPOINT_URL')
  const accessKeyId = variable('AWS_ACCESS_KEY_ID')
  const secretAccessKey = variable('AWS_SECRET_ACCESS_KEY')
  const sessionToken = variable('AWS_SESSION_TOKEN')
  return {
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint }),
    ...(kmsEndpoint !== undefined && { kmsEndpoint }),
    ...(accessKeyId !== undefined &&
      secretAccessKey !== undefined && {
        credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
      }),
  }
}

function directoryOf(url: URL): string {
  if (url.hostname !== '' || url.search !== '' || url.hash !== '') {
    throw new Error('has more than a path, as file:///var/lib/hub/storage has.')
  }
  const directory = resolve(fileURLToPath(url))
  if (directory === '/') throw new Error('names no directory, as file:///var/lib/hub/storage does.')
  return directory
}

function endpointOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = URL.parse(text)
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw new Error('has the parameter endpoint without a web address.')
  }
  return text
}

function credentialsOf(value: (name: string) => string | undefined): S3Credentials | undefined {
  const accessKeyId = value('access_key_id')
  const secretAccessKey = value('secret_access_key')
  const sessionToken = value('session_token')
  if (accessKeyId === undefined && secretAccessKey === undefined) return undefined
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new Error('has only one of the parameters access_key_id and secret_access_key.')
  }
  return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) }
}
