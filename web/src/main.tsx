import { render } from 'preact';

import { createApi } from './api.ts';
import { App } from './app.tsx';
import './style.css';

const root = document.getElementById('app');
if (root !== null) render(<App api={createApi()} />, root);
