import { bundle } from "./build.mjs"; import { gzipSync } from "node:zlib";
const t=Date.now(); const b=await bundle("deniable.js"); console.log(gzipSync(b,{level:9}).length, b.length, Date.now()-t);
console.log(gzipSync(b.subarray(b.indexOf("\n")+1),{level:9}).length);
