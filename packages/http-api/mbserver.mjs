import { createApi } from './dist/src/create-api.js';
import { listen } from './dist/src/listen.js';
import { Registry } from '@webhooks/runtime';
const payload={ exp: 9e9, iat: 1, tenant_id:'acme', scope:'event.write event.read a b c d e f'};
const claims={clientId:'c',payload,scopes:new Set(payload.scope.split(' '))};
const verifier={verify:async()=>claims,isReady:()=>true,close(){}};
const log={debug(){},info(){},warn(){},error(){}};
const app=createApi({operations:[{method:'POST',path:'/integration/v1/events',scopes:['event.write'],maxBodyBytes:1048576,handle:async r=>({status:202,body:{id:'evt_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',status:'accepted',n:undefined}})}],
 verifier,tenantRule:{claim:'tenant_id'},log,registry:new Registry(),limits:{maxOpenRequests:1024,tenantRequests:undefined,maxOpenBodyBytes:64<<20,uncountedScope:undefined,tenantRequests:{perSecond:0,burst:0}}});
const s=await listen(app,{port:0,host:'127.0.0.1'});
process.send({port:s.port});
process.on('message',()=>process.send({cpu:process.cpuUsage()}));
