import { Accordion, Code, List, Text } from '@mantine/core'

const hints = [
  {
    name: 'Microsoft Entra ID',
    issuer: 'https://login.microsoftonline.com/<tenant id>/v2.0',
    steps: [
      'App registrations → New registration, for this organisation only; platform Web, with the redirect address from above.',
      'Certificates & secrets → New client secret. Take its value, not its id.',
      'Token configuration → add the optional claim email to the ID token.',
    ],
  },
  {
    name: 'Okta',
    issuer: 'https://<organisation>.okta.com',
    steps: [
      'Applications → Create App Integration → OIDC, Web Application; sign-in redirect URI as above.',
      'Where an authorization server of your own is used, the issuer is that of the server, with /oauth2/<id> at the end.',
    ],
  },
  {
    name: 'Google Workspace',
    issuer: 'https://accounts.google.com',
    steps: [
      'Google Cloud console → Credentials → OAuth client ID, Web application, with the redirect address from above.',
      'Make the consent screen internal. The allowed domains matter here: anybody can have a Google account.',
    ],
  },
  {
    name: 'Keycloak',
    issuer: 'https://<host>/realms/<realm>',
    steps: [
      'Clients → Create client, OpenID Connect, client authentication on; valid redirect URI as above.',
      'The secret is under Credentials. No slash at the end of the issuer.',
    ],
  },
]

/** Shows the form of the issuer for common providers, and where its parts are found. */
export function SsoHints() {
  return (
    <Accordion variant="separated" aria-label="Hints for identity providers">
      {hints.map(({ name, issuer, steps }) => (
        <Accordion.Item key={name} value={name}>
          <Accordion.Control>
            <Text size="sm" fw={600}>
              {name}
            </Text>
          </Accordion.Control>
          <Accordion.Panel>
            <Text size="sm" mb="xs">
              Issuer: <Code style={{ overflowWrap: 'anywhere' }}>{issuer}</Code>
            </Text>
            <List size="sm" spacing={4}>
              {steps.map((step) => (
                <List.Item key={step}>{step}</List.Item>
              ))}
            </List>
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  )
}
