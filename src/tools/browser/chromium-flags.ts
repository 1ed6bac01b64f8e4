/**
 * How Chromium is started: without a window, without services of its own that call home, and with no way to the network but
 * the proxy. Names are not looked up on this machine, loopback addresses go to the proxy too (which refuses them), and what
 * would go around the proxy (UDP) is off.
 */
export interface ChromiumFlagsOptions {
  readonly profileFolder: string;
  /** False where another sandbox is around it, or where the operator wants none. */
  readonly hasOwnSandbox: boolean;
}

export function chromiumFlags({ profileFolder, hasOwnSandbox }: ChromiumFlagsOptions): string[] {
  return [
    '--headless',
    '--remote-debugging-pipe',
    `--user-data-dir=${profileFolder}`,
    ...(hasOwnSandbox ? [] : ['--no-sandbox']),
    ...noWayAround,
    ...quiet,
    'about:blank',
  ];
}

const noWayAround = [
  // Else loopback addresses would go around the proxy.
  '--proxy-bypass-list=<-loopback>',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  '--dns-prefetch-disable',
  '--disable-quic',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
];

const quiet = [
  '--disable-background-networking',
  '--disable-breakpad',
  '--disable-client-side-phishing-detection',
  '--disable-component-extensions-with-background-pages',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-dev-shm-usage',
  '--disable-domain-reliability',
  '--disable-extensions',
  '--disable-features=Translate,MediaRouter,DialMediaRouteProvider,OptimizationHints,AutofillServerCommunication,AsyncDns',
  '--disable-gpu',
  '--disable-search-engine-choice-screen',
  '--disable-sync',
  '--hide-scrollbars',
  '--metrics-recording-only',
  '--mute-audio',
  '--no-default-browser-check',
  '--no-first-run',
  '--no-pings',
  '--password-store=basic',
  '--use-mock-keychain',
  '--window-size=1280,800',
];
