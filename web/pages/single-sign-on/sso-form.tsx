import { Button, Group, PasswordInput, Stack, TagsInput, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import * as v from 'valibot'
import { type ApiResponse, api } from '../../api/api-client.ts'
import { fieldErrors } from '../../api/problem.ts'
import { notifyDone } from '../../components/notify.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { gathered } from '../onboarding/configured.ts'

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

interface SsoFormProps {
  sso: ApiResponse<'getSso'> | undefined
  onSaved(): void
}

/** Edits issuer, client and domains of the identity provider. */
export function SsoForm({ sso, onSaved }: SsoFormProps) {
  const queryClient = useQueryClient()
  const save = api.useMutation('post', ssoPath)
  const failure: unknown = save.error
  const form = useForm({
    initialValues: {
      issuer: sso?.issuer ?? '',
      client_id: sso?.client_id ?? '',
      client_secret: '',
      allowed_email_domains: sso?.allowed_email_domains ?? [],
    },
    validate: schemaResolver(settings, { sync: true }),
  })
  const { issuer, client_id } = form.values
  const isAnother = sso !== undefined && (issuer.trim() !== sso.issuer || client_id.trim() !== sso.client_id)
  const submit = form.onSubmit(async (values) => {
    try {
      await save.mutateAsync({
        body: { ...values, issuer: values.issuer.trim(), client_id: values.client_id.trim() },
      })
      form.setFieldValue('client_secret', '')
      notifyDone('Single sign-on is configured. Test it now.')
      await queryClient.invalidateQueries({ queryKey: ['get', ssoPath] })
      void queryClient.invalidateQueries({ queryKey: ['get', '/api/v1/observability/tenant-health'] })
      onSaved()
    } catch (error) {
      form.setErrors(gathered(fieldErrors(error), ['allowed_email_domains']))
    }
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
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
            Another issuer or client id creates a new connection: people are matched again by their addresses, with
            their roles, and a sign-in that is under way has to begin again.
          </p>
        )}
        {failure ? (
          <ProblemNotice
            error={failure}
            shownAtFields={['issuer', 'client_id', 'client_secret', 'allowed_email_domains']}
          />
        ) : null}
        <Group>
          <Button type="submit" loading={save.isPending}>
            {sso ? 'Save' : 'Connect'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
