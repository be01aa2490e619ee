import { Group, PasswordInput, TagsInput, TextInput } from '@mantine/core'
import * as v from 'valibot'
import { type ApiResponse, hub } from '../../api/api-client.ts'
import { MutationForm } from '../../components/mutation-form.tsx'
import { useMutationForm } from '../../components/use-mutation-form.ts'

export const ssoPath = '/api/v1/identity/sso/configure'

const settings = v.object({
  issuer: v.pipe(
    v.string(),
    v.trim(),
    v.nonEmpty('Enter the issuer of the provider.'),
    v.url('The issuer is an address.'),
  ),
  client_id: v.pipe(v.string(), v.trim(), v.nonEmpty('Enter the client id that the provider shows.')),
  client_secret: v.pipe(v.string(), v.nonEmpty('Enter the client secret. The Hub never shows the one that it keeps.')),
  allowed_email_domains: v.pipe(v.array(v.string()), v.minLength(1, 'Enter the domains of your own addresses.')),
})

/** Edits issuer, client and domains of the identity provider. */
export function SsoForm({ sso }: { sso: ApiResponse<'getSso'> | undefined }) {
  const form = useMutationForm({
    initialValues: {
      issuer: sso?.issuer ?? '',
      client_id: sso?.client_id ?? '',
      client_secret: '',
      allowed_email_domains: sso?.allowed_email_domains ?? [],
    },
    schema: settings,
    send: (values) =>
      hub.POST(ssoPath, { body: { ...values, issuer: values.issuer.trim(), client_id: values.client_id.trim() } }),
    done: 'Single sign-on is configured. Test it now.',
    refresh: [ssoPath, '/api/v1/observability/tenant-health'],
    onDone: (_, { setFieldValue }) => setFieldValue('client_secret', ''),
  })
  const { issuer, client_id } = form.values
  const isAnother = sso !== undefined && (issuer.trim() !== sso.issuer || client_id.trim() !== sso.client_id)
  return (
    <MutationForm form={form} submit={sso ? 'Save' : 'Connect'} failed="Single sign-on was not saved">
      <TextInput
        label="Issuer"
        required
        type="url"
        placeholder="https://login.example.com"
        description="As the provider writes it, letter for letter, with or without a slash at the end."
        {...form.getInputProps('issuer')}
      />
      <Group grow align="flex-start" preventGrowOverflow={false}>
        <TextInput label="Client id" required autoComplete="off" miw="14rem" {...form.getInputProps('client_id')} />
        <PasswordInput
          label="Client secret"
          // The Hub requires the secret for each change, and never shows the stored one.
          required
          autoComplete="off"
          miw="14rem"
          description={sso ? 'Saved. Enter it again to change anything.' : undefined}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          {...form.getInputProps('client_secret')}
        />
      </Group>
      <TagsInput
        label="Allowed e-mail domains"
        required
        placeholder={form.values.allowed_email_domains.length === 0 ? 'example.com' : undefined}
        description="Only addresses of these domains come in; a subdomain is a domain of its own. Press Enter after each."
        acceptValueOnBlur
        {...form.getInputProps('allowed_email_domains')}
      />
      {isAnother && (
        <p style={{ margin: 0 }}>
          Another issuer or client id creates a new connection: people are matched again by their addresses, with their
          roles, and a sign-in that is under way has to begin again.
        </p>
      )}
    </MutationForm>
  )
}
